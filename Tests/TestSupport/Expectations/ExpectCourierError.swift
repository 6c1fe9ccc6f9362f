package import CourierCore
package import Testing

/// Expects a ``CourierError`` of this code whose message holds all of `parts`, and gives it for a further look.
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
