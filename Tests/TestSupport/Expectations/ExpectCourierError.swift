package import CourierCore
package import Testing

/// Expects that `body` throws a ``CourierError`` with this code, whose message contains all of `parts`. Returns the
/// error for further checks.
@discardableResult
package func expectCourierError<Result>(
    _ code: CourierError.Code, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Result
) -> CourierError? {
    do {
        _ = try body()
        Issue.record("no error, expected \(code)", sourceLocation: sourceLocation)
        return nil
    } catch let error as CourierError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        for part in parts {
            #expect(error.message.contains(part), "\(error.message) lacks \(part)", sourceLocation: sourceLocation)
        }
        return error
    } catch {
        Issue.record("\(error), expected \(code)", sourceLocation: sourceLocation)
        return nil
    }
}
