"""A chat partner that speaks Protobuf and JSON: answers every note on chat/+/notes.

    chat.py PORT DESCRIPTORS

For each Note on `notes/in` it publishes a Note on `notes/out`, with the title in capitals, and what it read as JSON on
`notes/seen`. Says "ready" when it is subscribed.
"""

import json
import sys

import paho.mqtt.client as mqtt
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

pool = descriptor_pool.DescriptorPool()
for file in descriptor_pb2.FileDescriptorSet.FromString(open(sys.argv[2], "rb").read()).file:
    pool.Add(file)
Note = message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("Note"))


def answer(client, _, message):
    note = Note.FromString(message.payload)
    client.publish("notes/seen", json.dumps({"title": note.title, "stars": note.stars, "tags": list(note.tags)}), qos=1)
    client.publish("notes/out", Note(title=note.title.upper(), stars=note.stars).SerializeToString(), qos=1)


client = mqtt.Client(client_id="chat.py")
client.on_connect = lambda client, *_: client.subscribe("notes/in", qos=1)
client.on_subscribe = lambda *_: print("ready", flush=True)
client.on_message = answer
client.connect("127.0.0.1", int(sys.argv[1]))
client.loop_forever()
