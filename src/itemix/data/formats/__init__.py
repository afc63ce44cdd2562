"""One module for each family of file formats: how it is read, how it is written."""
