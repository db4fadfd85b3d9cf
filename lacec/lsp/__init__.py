"""The language server: what editors ask about lacegrams while they are typed."""
