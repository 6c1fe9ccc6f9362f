/// The trace context of the W3C, which identifies the trace that an operation belongs to.
///
/// A trace is a tree of operations, which tracing systems call spans. A message carries the context of the span that
/// sent the message, in two user properties of MQTT 5: `traceparent` and `tracestate`. With
/// ``MessageProperties/traceContext``, read or set both properties.
///
/// ```swift
/// let root = TraceContext()  // Begins a new trace.
/// try await TraceContext.$current.withValue(root) { try await client.publish(order, to: "orders/7") }
/// ```
public struct TraceContext: Hashable, Sendable {
    /// The context of the running task or thread; `nil` by default.
    ///
    /// A client whose configuration has `tracing` sends this context with every message, and sets it while a sink or a
    /// request handler runs.
    @TaskLocal public static var current: TraceContext?

    /// The id of the trace: 32 digits from `0` to `9` and `a` to `f`.
    public let traceID: String

    /// The id of the span that sent the message: 16 digits from `0` to `9` and `a` to `f`.
    public let spanID: String

    /// Whether the sender may have recorded the trace.
    public var isSampled: Bool {
        get { flags & Self.sampled != 0 }
        set { flags = newValue ? flags | Self.sampled : flags & ~Self.sampled }
    }

    /// The value of `tracestate`: data of tracing systems in the form `vendor=value`, separated by commas.
    public let state: String?

    private var flags: UInt8

    private static let sampled: UInt8 = 0b01
    /// The flag that says that the trace id is random.
    private static let random: UInt8 = 0b10

    /// Begins a new trace: both ids are random.
    ///
    /// - Parameter isSampled: Whether the trace is recorded; `true` by default.
    public init(isSampled: Bool = true) {
        traceID = Self.randomID(16)
        spanID = Self.randomID(8)
        state = nil
        flags = Self.random | (isSampled ? Self.sampled : 0)
    }

    /// Makes a context of ids that a tracing system has chosen. The result is `nil` if an id is invalid.
    ///
    /// - Parameters:
    ///   - traceID: 32 digits from `0` to `9` and `a` to `f`, not all of them `0`.
    ///   - spanID: 16 digits from `0` to `9` and `a` to `f`, not all of them `0`.
    ///   - isSampled: Whether the trace is recorded; `true` by default.
    ///   - state: The value of `tracestate`; `nil` by default. If the value is invalid, the context has no state.
    public init?(traceID: String, spanID: String, isSampled: Bool = true, state: String? = nil) {
        self.init(traceparent: "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")", tracestate: state)
    }

    /// Parses the values of `traceparent` and `tracestate`. The result is `nil` if the value of `traceparent` is
    /// invalid.
    ///
    /// - Parameters:
    ///   - traceparent: The value, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
    ///   - tracestate: The value of `tracestate`; `nil` by default. If the value is invalid, the context has no state.
    public init?(traceparent: String, tracestate: String? = nil) {
        let bytes = Array(traceparent.utf8)
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = Self.number(bytes[0..<2]), version != 0xFF,
            // Later versions of the format may add fields after a `-`.
            bytes.count == 55 || (version > 0 && bytes[55] == UInt8(ascii: "-")),
            let traceID = Self.id(bytes[3..<35]), let spanID = Self.id(bytes[36..<52]),
            let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags & (Self.sampled | Self.random)
        state = tracestate.flatMap(TraceState.normalized)
    }

    /// The value of `traceparent`: version, trace id, span id and flags.
    public var traceparent: String { "00-\(traceID)-\(spanID)-0\(flags)" }

    /// Returns the context for a new span of the same trace. Its span id is random.
    ///
    /// - Returns: The context of the new span.
    public func child() -> TraceContext { TraceContext(traceID: traceID, spanID: Self.randomID(8), flags, state) }

    private init(traceID: String, spanID: String, _ flags: UInt8, _ state: String?) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
        self.state = state
    }

    // MARK: Hexadecimal digits

    private static let digits = Array("0123456789abcdef".utf8)

    private static func randomID(_ byteCount: Int) -> String {
        while true {
            var text: [UInt8] = []
            for _ in 0..<byteCount {
                let byte = UInt8.random(in: .min ... .max)
                text += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
            if let id = id(text[...]) { return id }  // All zeros are not an id.
        }
    }

    /// Returns the digits as text; `nil` if there is another character, or if all digits are `0`.
    private static func id(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.allSatisfy(digits.contains), bytes.contains(where: { $0 != UInt8(ascii: "0") }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the number that two hexadecimal digits represent; `nil` if there is another character.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt8? {
        var number: UInt8 = 0
        for byte in bytes {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            number = number << 4 | UInt8(digit)
        }
        return number
    }
}

extension TraceContext: CustomStringConvertible {
    /// The value of `traceparent`.
    public var description: String { traceparent }
}
