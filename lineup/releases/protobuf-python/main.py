"""Writes and reads structures as protocol buffers."""
from google.protobuf import struct_pb2

message = struct_pb2.Struct()
message.update({f"field{i}": i for i in range(60)})
size = 0
for _ in range(150):
    packed = message.SerializeToString()
    size += len(struct_pb2.Struct.FromString(packed).fields)
print(size)
