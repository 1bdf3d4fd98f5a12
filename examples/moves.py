"""Tell me when it has moved: every subscriber says how far, and gets what is that far from what it was told last."""

import tamis

net = tamis.Overlay((4, [(0, 1), (1, 2), (1, 3)]), routing="covering", seed=7)
net.subscribe(0, "alice", "exchange = 'X' notify price moves 2 per symbol")
net.subscribe(2, "bob", "exchange = 'X' and price < 100 notify price moves 5% per symbol")
net.subscribe(2, "carol", "exchange = 'X'")
net.run()

quotes = [("ACME", 50.0), ("BETA", 20.0), ("ACME", 51.0), ("BETA", 21.0), ("ACME", 52.5), ("BETA", 18.0)]
published = {}
for symbol, price in quotes:
    event = net.publish(3, {"exchange": "X", "symbol": symbol, "price": price}, publisher="feed")
    published[event] = f"{symbol} {price}"
    net.run()

for client in ("alice", "bob", "carol"):
    told = [published[event] for receiver, event in net.deliveries if receiver == client]
    print(f"{client} was told: {', '.join(told)}")
