"""A WebSocket server that echoes every message in fragments, written with Python's `websockets` package.

    echo.py PORT [CERTIFICATE KEY]

It uses the subprotocol mqtt and prints "listening" when it accepts connections. It sends each message back as a fragmented
message, after a Ping. If a message has three bytes and the first is 0xC1, the other two are the status of its Close frame.
"""

import asyncio
import ssl
import sys

import websockets


def fragments(message):
    """Splits a message into pieces of growing size, for its fragments."""
    size, start = 1, 0
    while start < len(message):
        yield message[start : start + size]
        start += size
        size *= 3


async def serve(socket):
    async for message in socket:
        if isinstance(message, str):
            raise SystemExit("a client of MQTT sent text")
        if len(message) == 3 and message[0] == 0xC1:
            await socket.close(int.from_bytes(message[1:], "big"), "as you wish")
            return
        pong = await socket.ping(b"are you there?")
        await socket.send(list(fragments(message)) or message)
        await pong  # The client must have answered.


async def main(port, certificate=None, key=None):
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    async with websockets.serve(
        serve, "127.0.0.1", port, ssl=context, subprotocols=["mqtt"], compression="deflate", max_size=1 << 20
    ):
        print("listening", flush=True)
        await asyncio.Future()


asyncio.run(main(int(sys.argv[1]), *sys.argv[2:]))
