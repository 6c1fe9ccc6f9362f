import CourierCore
import CourierMQTT
import Synchronization
import Testing

@Suite struct EnvironmentTests {
    /// Records the values of a publisher in order.
    private final class Seen<Value: Sendable & Equatable>: Sendable {
        let values = Mutex<[Value]>([])
        let subscription = Mutex<AnyCancellable?>(nil)

        init(_ publisher: AnyPublisher<Value, Never>) {
            let subscription = publisher.sink { [weak self] value in self?.values.withLock { $0.append(value) } }
            self.subscription.withLock { $0 = subscription }
        }

        var all: [Value] { values.withLock { $0 } }
    }

    @Test func `phasePublisher publishes the current app phase first, then only changes`() {
        let phases = AppPhaseController()
        let early = Seen(phases.phasePublisher)
        phases.enterForeground()
        phases.enterBackground()
        let late = Seen(phases.phasePublisher)
        phases.enterBackground()
        phases.enterForeground()
        #expect(early.all == [.foreground, .background, .foreground])
        #expect(late.all == [.background, .foreground])
        #expect(phases.phase == .foreground)
        #expect(AppPhaseController(.background).phase == .background)
    }

    @Test func `AlwaysAvailableNetwork and AlwaysForeground each publish exactly one value`() {
        let hasEnded = Mutex(false)
        let seen = Mutex<[NetworkStatus]>([])
        let subscription = AlwaysAvailableNetwork().statusPublisher.sink(
            receiveCompletion: { _ in hasEnded.withLock { $0 = true } },
            receiveValue: { status in seen.withLock { $0.append(status) } })
        let phases = Seen(AlwaysForeground().phasePublisher)
        #expect(seen.withLock { $0 } == [.available])
        #expect(phases.all == [.foreground])
        #expect(!hasEnded.withLock { $0 })
        subscription.cancel()
    }
}
