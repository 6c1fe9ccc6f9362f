import CourierCore
import CourierTransport

/// Finds out that no connection can come about until a person corrects something.
///
/// A failure is final if the next attempt ends in the same way: the host name does not exist, a certificate is not accepted,
/// or the broker refuses credentials and the provider has no others. A round of attempts tries each endpoint once.
struct FinalFailures: Sendable {
    /// Whether every failure of the present round is final.
    private var areAllFinal = true
    /// The options whose credentials the broker refused last. In a box, because they are large and rare.
    @Rare private var refusedOptions: ConnectOptions?

    /// Notes that the broker refused the credentials of these options; whether it refused the same ones before.
    mutating func refused(_ options: ConnectOptions?) -> Bool {
        defer { refusedOptions = options }
        return options != nil && options == refusedOptions
    }

    /// Notes how an attempt failed.
    mutating func add(isFinal: Bool) { areAllFinal = areAllFinal && isFinal }

    /// Ends the round; whether each of its failures was final.
    mutating func endRound() -> Bool {
        defer { areAllFinal = true }
        return areAllFinal
    }
}
