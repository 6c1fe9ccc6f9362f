import Testing

@testable import CourierCommands

struct DemoScriptTests {
    /// A script that has come to the letters of before the cut.
    private static func talking() -> DemoScript {
        var script = DemoScript()
        _ = script.isConnected(.ada)
        _ = script.isConnected(.bob)
        _ = script.subscribed()
        return script
    }

    @Test func `nothing is sent before both are connected and Bob listens`() {
        var script = DemoScript()
        #expect(script.isConnected(.bob) == [])
        #expect(script.subscribed() == [])
        #expect(script.isConnected(.ada) == [.send(1...3)])
    }

    @Test func `the network is cut when all has arrived and is acknowledged`() {
        var script = Self.talking()
        for number in 1...3 { #expect(script.received(number) == []) }
        #expect(script.acknowledged() == [] && script.acknowledged() == [])
        #expect(script.acknowledged() == [.cutNetwork])
    }

    @Test func `the rest is sent while nobody is connected, and ends it when it has arrived`() {
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
    func `another order or a second copy is not as promised`(numbers: [Int]) {
        var script = Self.talking()
        for number in numbers { _ = script.received(number) }
        #expect(!script.isAsPromised)
    }
}
