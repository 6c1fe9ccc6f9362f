import CourierCore
import Synchronization

/// Collects the results of several commits and the order of their completions.
final class Collector: Sendable {
    private struct State {
        var results: [Int: Result<Void, CourierError>] = [:]
        var order: [Int] = []
    }

    private let count: Int
    private let state = Mutex(State())
    private let whenComplete: @Sendable ([Result<Void, CourierError>]) -> Void

    init(count: Int, whenComplete: @escaping @Sendable ([Result<Void, CourierError>]) -> Void) {
        self.count = count
        self.whenComplete = whenComplete
    }

    var order: [Int] { state.withLock { $0.order } }

    func add(_ number: Int, _ result: Result<Void, CourierError>) {
        let all: [Result<Void, CourierError>]? = state.withLock { state in
            state.results[number] = result
            state.order.append(number)
            guard state.results.count == count else { return nil }
            return state.results.sorted { $0.key < $1.key }.map(\.value)
        }
        if let all { whenComplete(all) }
    }
}
