import CourierCore
import Testing

@Suite struct TraceContextTests {
    static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    static let spanID = "00f067aa0ba902b7"
    static let parent = "00-\(traceID)-\(spanID)-01"

    @Test func `a valid traceparent is parsed and written unchanged`() throws {
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: "congo=t61rcWkgMzE,rojo=1"))
        #expect(context.traceID == Self.traceID && context.spanID == Self.spanID && context.isSampled)
        #expect(context.state == "congo=t61rcWkgMzE,rojo=1")
        #expect(context.traceparent == Self.parent && "\(context)" == Self.parent)
    }

    @Test(
        arguments: [
            ("", nil), (String(parent.dropLast()), nil), (parent + "0", nil), (parent + "-00", nil),
            (parent.uppercased(), nil), ("ff" + parent.dropFirst(2), nil), ("0x" + parent.dropFirst(2), nil),
            (parent.replacing("-", with: "_"), nil), ("é" + parent.dropFirst(2), nil),
            ("00-\(String(repeating: "0", count: 32))-\(spanID)-01", nil),
            ("00-\(traceID)-\(String(repeating: "0", count: 16))-01", nil), (String(parent.dropLast(2)) + "g1", nil),
            // Versions after 00 may have more fields and flags.
            ("cc" + parent.dropFirst(2), parent), ("cc\(parent.dropFirst(2))-what", parent),
            ("cc\(parent.dropFirst(2)).what", nil),
            (String(parent.dropLast(2)) + "ff", String(parent.dropLast(2)) + "03"),
            (String(parent.dropLast(2)) + "00", String(parent.dropLast(2)) + "00"),
        ] as [(String, String?)])
    func `traceparent is parsed by the rules of the W3C`(text: String, expected: String?) {
        #expect(TraceContext(traceparent: text)?.traceparent == expected)
    }

    @Test(arguments: [
        ("a=1", true), ("tenant@vendor=x y", true), ("0a=1", true),
        ("\(String(repeating: "k", count: 256))=\(String(repeating: "v", count: 256))", true),
        ((0..<32).map { "k\($0)=v" }.joined(separator: ","), true),
        ("", false), ("a", false), ("=1", false), ("a=", false), ("A=1", false), ("a=1=2", false), ("a=é", false),
        ("a=\u{1}", false), ("_a=1", false), ("\(String(repeating: "k", count: 257))=v", false),
        ("k=\(String(repeating: "v", count: 257))", false), (",", false),
        ((0..<33).map { "k\($0)=v" }.joined(separator: ","), false),
    ])
    func `an invalid tracestate is dropped, and the trace id is kept`(state: String, isValid: Bool) throws {
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: state))
        #expect(context.state == (isValid ? state : nil) && context.traceID == Self.traceID)
    }

    @Test(arguments: ["a=1,b=2", "a=1, b=2", "a=1,\tb=2", "a=1,,b=2", " a=1 \t,\t b=2\t", ",a=1,b=2,"])
    func `empty members of tracestate, and spaces and tabs around members, are removed`(state: String) throws {
        #expect(try #require(TraceContext(traceparent: Self.parent, tracestate: state)).state == "a=1,b=2")
    }

    @Test func `a new trace context has random ids, and its child has the same trace id and tracestate`() throws {
        let roots = (0..<100).map { _ in TraceContext() }
        #expect(Set(roots.map(\.traceID)).count == 100 && Set(roots.map(\.spanID)).count == 100)
        for root in roots {
            #expect(TraceContext(traceparent: root.traceparent) == root && root.isSampled)
        }
        #expect(!TraceContext(isSampled: false).isSampled)
        var parent = try #require(TraceContext(traceparent: Self.parent, tracestate: "a=1"))
        parent.isSampled = false
        let child = parent.child()
        #expect(child.traceID == Self.traceID && child.spanID != Self.spanID && child.state == "a=1")
        #expect(!child.isSampled && TraceContext(traceparent: child.traceparent) != nil)
    }

    @Test func `a trace context can be created from a trace id and a span id only if both ids are valid`() {
        #expect(
            TraceContext(traceID: Self.traceID, spanID: Self.spanID, isSampled: false)?.traceparent
                == "00-\(Self.traceID)-\(Self.spanID)-00")
        #expect(TraceContext(traceID: "12", spanID: Self.spanID) == nil)
        #expect(TraceContext(traceID: Self.traceID, spanID: Self.spanID + "-01-") == nil)
    }

    @Test func `setting traceContext of properties replaces two user properties, and keeps all others in order`() throws
    {
        var properties = MessageProperties(userProperties: [
            .init("a", "1"), .init("traceparent", "old"), .init("tracestate", "x=1"), .init("a", "2"),
        ])
        #expect(properties.traceContext == nil)
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: "y=2"))
        properties.traceContext = context
        #expect(properties.traceContext == context)
        #expect(
            properties.userProperties == [
                .init("a", "1"), .init("a", "2"), .init("traceparent", Self.parent), .init("tracestate", "y=2"),
            ])
        properties.traceContext = nil
        #expect(properties.userProperties == [.init("a", "1"), .init("a", "2")] && properties.traceContext == nil)
        var none = MessageProperties()
        none.traceContext = nil
        #expect(none == MessageProperties())
    }

    @Test func `properties with two traceparent values have no trace context, and two tracestate values are joined`() {
        let parent = MessageProperties.UserProperty("traceparent", Self.parent)
        #expect(MessageProperties(userProperties: [parent, parent]).traceContext == nil)
        let joined = MessageProperties(userProperties: [.init("tracestate", "a=1"), parent, .init("tracestate", "b=2")])
        #expect(joined.traceContext?.state == "a=1,b=2")
        #expect(MessageProperties(userProperties: [.init("TraceParent", Self.parent)]).traceContext == nil)
    }
}
