import CourierCore
import CourierTesting
import Testing

@testable import CourierMQTT
@testable import CourierTransport

/// The address that a client reports as failed.
@Suite(.timeLimit(.minutes(5))) struct AddressBlameTests {
    @Test func `a failed attempt without a known address does not mark the address of an earlier attempt as failed`()
        async throws
    {
        let script: [ConnectionScript] = [.connection([.accept()]), .connection([.closeWithoutAnswer(.reset)])]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let addresses = try ["127.0.0.1", "127.0.0.2"].flatMap { host throws in
                try SocketAddress.lookUp(host: host, port: 1, isNumeric: true)
            }
            let history = AddressHistory()
            let coordinator = world.client.parts.coordinator
            world.loop.execute {
                history.reached(addresses[0])
                history.presentServed()
                coordinator.addresses = history
            }
            world.client.disconnect()
            await world.settle()
            await world.connect()
            #expect(world.events.contains("connectionFailure"))
            let order = Box<[String]>()
            let now = world.clock.now
            world.loop.execute { order.value = history.sorted(addresses, now: now).map(\.host) }
            await world.settle()
            #expect(order.value == addresses.map(\.host))
        }
    }
}
