import CourierCore
import CourierTransport

/// Decides whether every endpoint has failed for a final cause.
///
/// A failure is final if the next attempt would end in the same way:
/// - The host name does not exist.
/// - A certificate is not accepted.
/// - The broker refuses the credentials, and the provider has no other credentials.
///
/// A round of attempts tries each endpoint once.
struct FinalFailures: Sendable {
    /// True if every failure of the current round is final; also true at the beginning of a round.
    private var areAllFinal = true
    /// The options whose credentials the broker refused last. Stored in a box, because they are large and rarely set.
    @BoxedOptional private var refusedOptions: ConnectOptions?

    /// Records that the broker refused the credentials of these options. Returns true if the refusal before this one
    /// was for equal options.
    mutating func refused(_ options: ConnectOptions?) -> Bool {
        defer { refusedOptions = options }
        return haveRefused(options)
    }

    /// Returns true if the last refusal was for equal options.
    func haveRefused(_ options: ConnectOptions?) -> Bool { options != nil && options == refusedOptions }

    /// Records how an attempt failed. If the failure concerns every endpoint, such as refused credentials, the earlier
    /// failures of the round are ignored. Then ``endRound()`` returns true if this failure and all later ones are
    /// final.
    mutating func add(isFinal: Bool, isOfEveryEndpoint: Bool) {
        areAllFinal = isFinal && (areAllFinal || isOfEveryEndpoint)
    }

    /// Ends the round. Returns true if all its failures were final.
    mutating func endRound() -> Bool {
        defer { areAllFinal = true }
        return areAllFinal
    }
}
