"""Help that shows the options of a command in sections."""

from typing import Any

from typer.core import TyperCommand


class SectionedCommand(TyperCommand):
    """A command whose help has a section for each panel that its options name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - of typer's own click
        """Write the arguments, and the options section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                default = "Arguments" if parameter.param_type_name == "argument" else "Options"
                title = getattr(parameter, "rich_help_panel", None) or default
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
