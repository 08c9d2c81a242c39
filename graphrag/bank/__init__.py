"""The knowledge bank: entries that people and agents relate and learn, and the MCP server that agents reach it by."""
