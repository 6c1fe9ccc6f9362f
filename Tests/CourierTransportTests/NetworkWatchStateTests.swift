import Testing

@testable import CourierTransport

@Suite struct NetworkWatchStateTests {
    private typealias State = NetworkWatchState
    private let start = ContinuousClock.now
    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func `many changes within the settle time cause one network check at the end of the settle time`() {
        var state = State(settleTime: .milliseconds(250))
        let consequence = state.lookEnded(.seen(isAvailable: false), now: at(0))
        #expect(consequence == .init(isAvailable: false))
        let timer = state.changed(now: at(100))
        #expect(timer == at(350))
        for time in 101..<350 {
            let answer = state.changed(now: at(time))
            #expect(answer == nil)
        }
        let looks = state.timerFired()
        #expect(looks)
        let secondConsequence = state.lookEnded(.seen(isAvailable: true), now: at(350))
        #expect(secondConsequence == .init(isAvailable: true))
        let secondLooks = state.timerFired()
        #expect(!secondLooks)
    }

    @Test func `a network state that did not change is not reported again`() {
        var state = State(settleTime: .zero)
        var said: [Bool] = []
        for isAvailable in [true, true, false, false, true] {
            if let news = state.lookEnded(.seen(isAvailable: isAvailable), now: at(0)).isAvailable { said.append(news) }
            _ = state.changed(now: at(0))
            let looks = state.timerFired()
            #expect(looks)
        }
        #expect(said == [true, false, true])
    }

    @Test func `a network change during a network check causes a second network check`() {
        var state = State(settleTime: .milliseconds(250))
        let timer = state.changed(now: at(1))
        #expect(timer == nil)
        let consequence = state.lookEnded(.seen(isAvailable: false), now: at(2))
        #expect(consequence == .init(isAvailable: false, timer: at(252)))
        let looks = state.timerFired()
        #expect(looks)
    }

    @Test func `if the kernel data of a network check is inconsistent, the check is repeated after the settle time`() {
        var state = State(settleTime: .milliseconds(250))
        let consequence = state.lookEnded(.inconsistent, now: at(0))
        #expect(consequence == .init(timer: at(250)))
        let looks = state.timerFired()
        #expect(looks)
        let secondConsequence = state.lookEnded(.unknown, now: at(250))
        #expect(secondConsequence == .init(isAvailable: true))
    }
}
