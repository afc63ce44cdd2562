"""Help that shows the arguments of a command by their names, and its options in sections."""

from typing import Any

from typer.core import TyperCommand


class SectionedCommand(TyperCommand):
    """A command whose help has a section for each panel that its options name."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - of typer's own click
        """Return what the line of usage names: the options, then the arguments in their order."""
        arguments: list[Any] = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return ["[OPTIONS]", *(a.metavar if a.required else f"[{a.metavar}]" for a in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """Write the arguments, and the options section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        parameters: list[Any] = self.get_params(ctx)
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                sections.setdefault("Arguments", []).append((parameter.metavar, parameter.help))
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                title = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
