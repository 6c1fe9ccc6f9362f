import Testing

@testable import CourierCommands

struct DemoScriptTests {
    /// A script that has sent the messages before the cut.
    private static func talking() -> DemoScript {
        var script = DemoScript()
        _ = script.isConnected(.ada)
        _ = script.isConnected(.bob)
        _ = script.subscribed()
        return script
    }

    @Test func `the demo sends no message before both clients are connected and Bob is subscribed`() {
        var script = DemoScript()
        #expect(script.isConnected(.bob) == [])
        #expect(script.subscribed() == [])
        #expect(script.isConnected(.ada) == [.send(1...3)])
    }

    @Test func `the demo cuts the network after the first messages are received and acknowledged`() {
        var script = Self.talking()
        for number in 1...3 { #expect(script.received(number) == []) }
        #expect(script.acknowledged() == [] && script.acknowledged() == [])
        #expect(script.acknowledged() == [.cutNetwork])
    }

    @Test func `the demo sends messages 4 to 7 after the connection is lost and ends when all are received`() {
        var script = Self.talking()
        for number in 1...3 { _ = script.received(number) }
        for _ in 1...3 { _ = script.acknowledged() }
        #expect(script.lost(.bob) == [])
        #expect(script.lost(.ada) == [.send(4...7)])
        #expect(script.isConnected(.ada) == [] && script.isConnected(.bob) == [])
        for _ in 4...7 { #expect(script.acknowledged() == []) }
        for number in 4...6 { #expect(script.received(number) == []) }
        #expect(!script.isAsPromised)
        #expect(script.received(7) == [.end])
        #expect(script.isAsPromised)
        #expect(script.received(7) == [])
        #expect(!script.isAsPromised)
    }

    @Test(arguments: [[1, 3, 2, 4, 5, 6, 7], [1, 2, 2, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6, 7]])
    func `the demo reports a broken promise if messages arrive in the wrong order or twice`(numbers: [Int]) {
        var script = Self.talking()
        for number in numbers { _ = script.received(number) }
        #expect(!script.isAsPromised)
    }
}
