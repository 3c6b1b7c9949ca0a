"""The generator behind tools/generate-traits."""
