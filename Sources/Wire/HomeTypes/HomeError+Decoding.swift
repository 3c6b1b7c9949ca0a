import Foundation

extension HomeError {
    /// The error for a JSON body that cannot be read: it names the field and what it must be.
    public init(_ error: DecodingError) {
        self = .invalidArgument(Self.explanation(of: error))
    }

    /// The error for a JSON body that cannot be read, from the error and the body.
    ///
    /// `JSONDecoder` reports a number that its field cannot hold as it reports text that is not JSON, without a place.
    /// Whether the text is JSON shows which of them it was.
    public init(_ error: DecodingError, body: Data) {
        self.init(error)
        if error.isAboutNumber(in: body) {
            message = "a number in the body does not fit its field; it must be whole, and not negative or too large"
        }
    }

    private static func explanation(of error: DecodingError) -> String {
        func place(_ context: DecodingError.Context, _ last: String? = nil) -> String {
            let path = context.codingPath.map(\.stringValue) + (last.map { [$0] } ?? [])
            return path.isEmpty ? "the body" : path.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "\(place(context, key.stringValue)) is missing"
        case .valueNotFound(_, let context): return "\(place(context)) must not be null"
        case .typeMismatch(let type, let context): return "\(place(context)) must be \(Self.jsonName(of: type))"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty
                ? "the body is not valid JSON" : "\(place(context)): \(context.debugDescription)"
        @unknown default: return "the body cannot be read"
        }
    }

    private static func jsonName(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "a boolean"
        case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "a number"
        case is any RangeReplaceableCollection.Type: "a list"
        default: "an object"
        }
    }
}

extension DecodingError {
    /// Whether a field cannot hold a number of `body`, which is JSON.
    public func isAboutNumber(in body: Data) -> Bool {
        guard case .dataCorrupted(let context) = self, context.codingPath.isEmpty else { return false }
        return (try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)) != nil
    }
}
