import Foundation
import FuzzSupport

@testable import CourierProtobuf

/// The limits of depth, counts and memory are small, so that inputs often reach them.
private let limits = ProtobufLimits(
    maximumSize: 65_536, maximumDepth: 20, maximumCount: 1_000, workingMemory: 8 << 20, maximumJSONSize: 1 << 20)

/// Feeds one input to the parser of protobuf messages.
///
/// The first byte chooses how the other bytes are parsed: as a message with every feature, a proto2 message, a
/// descriptor set, or JSON. A parsed message must be written, parsed again as an equal message, and written as the same
/// bytes.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    let bytes = Array(input.rest)
    switch choice % 4 {
    case 0: checkRoundTrip(Courier_Test_Everything.self, bytes)
    case 1: checkRoundTrip(Courier_Legacy_Legacy.self, bytes)
    case 2: checkDescriptorSet(bytes)
    default: checkJSON(bytes)
    }
}

private func checkRoundTrip<Message: GeneratedProtobufMessage>(_ type: Message.Type, _ bytes: [UInt8]) {
    guard let message = try? Message(protobufBytes: bytes, limits: limits) else { return }
    guard let written = try? message.protobufData(limits: ProtobufLimits()) else {
        fatalError("what was read can not be written")
    }
    // The written message may be larger than its input: a map entry of one byte is written with its missing key. So the
    // second parse uses the default limits.
    guard let again = try? Message(protobufData: written + (Plant.isPlanted ? [0] : [])) else {
        fatalError("what was written can not be read")
    }
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
