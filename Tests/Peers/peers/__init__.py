"""What the tests with real peers share: the gateway, cameras, browsers and aiortc."""
