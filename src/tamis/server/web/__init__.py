"""The broker over HTTP and WebSocket, in its own process and event loop: publish, subscribe, and see how it is."""
