import Synchronization

/// Suspends all tasks that call `pass()` until it is opened, and counts them.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivalCount = 0
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    func pass() async {
        await withCheckedContinuation { arrival in
            let (isOpen, ready) = state.withLock { state in
                state.arrivalCount += 1
                if !state.isOpen { state.held.append(arrival) }
                let count = state.arrivalCount
                defer { state.watchers.removeAll { $0.count <= count } }
                return (state.isOpen, state.watchers.filter { $0.count <= count }.map(\.waiter))
            }
            for waiter in ready { waiter.resume() }
            if isOpen { arrival.resume() }
        }
    }

    func waitForArrivals(_ count: Int) async {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                if state.arrivalCount >= count { return true }
                state.watchers.append((count, waiter))
                return false
            }
            if isThere { waiter.resume() }
        }
    }

    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for arrival in held { arrival.resume() }
    }
}
