"""The views: each answers one kind of question from a served model, with what JSON can hold."""

from __future__ import annotations
