// Compiled by Scripts/fuzz together with the sources of CourierProtobuf and the test schema's Swift, into one module.

import Foundation

/// The limits of depth, counts and memory are small, so that inputs often reach them.
private let limits = ProtobufLimits(
    maximumSize: 65_536, maximumDepth: 20, maximumCount: 1_000, workingMemory: 8 << 20, maximumJSONSize: 1 << 20)

/// Feeds one input to the parser of protobuf messages.
///
/// The first byte chooses how the other bytes are parsed: as a message with every feature, a proto2 message, a
/// descriptor set, or JSON. A parsed message must be written, parsed again as an equal message, and written as the same
/// bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProtobuf(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size >= 1 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: data + 1, count: size - 1))
    switch data[0] % 4 {
    case 0: checkRoundTrip(Courier_Test_Everything.self, bytes)
    case 1: checkRoundTrip(Courier_Legacy_Legacy.self, bytes)
    case 2: checkDescriptorSet(bytes)
    default: checkJSON(bytes)
    }
    return 0
}

private func checkRoundTrip<Message: GeneratedProtobufMessage>(_ type: Message.Type, _ bytes: [UInt8]) {
    guard let message = try? Message(protobufBytes: bytes, limits: limits) else { return }
    guard let written = try? message.protobufData(limits: ProtobufLimits()) else {
        fatalError("what was read can not be written")
    }
    // The written message may be larger than its input: a map entry of one byte is written with its missing key. So the
    // second parse uses the default limits.
    guard let again = try? Message(protobufData: written) else { fatalError("what was written can not be read") }
    guard let rewritten = try? again.protobufData(), rewritten == written else { fatalError("bytes differ") }
}

private func checkDescriptorSet(_ bytes: [UInt8]) {
    guard let types = try? ProtobufDescriptorSet(Data(bytes), limits: limits) else { return }
    for name in types.messageNames { _ = try? types.json(from: Data(bytes), type: name) }
}

private func checkJSON(_ bytes: [UInt8]) {
    guard var parser = try? JSONParser(String(decoding: bytes, as: UTF8.self), limits: limits) else { return }
    _ = try? parser.document()
}
