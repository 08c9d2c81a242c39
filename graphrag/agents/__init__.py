"""What agents reach the knowledge bank and the index by: tools that answer in text, served over MCP."""
