extension HomeError {
    /// The error for a JSON body that cannot be read: it names the field and what it must be.
    public init(_ error: DecodingError) {
        self = .invalidArgument(Self.explanation(of: error))
    }

    private static func explanation(of error: DecodingError) -> String {
        func place(_ context: DecodingError.Context, _ last: String? = nil) -> String {
            let path = context.codingPath.map(\.stringValue) + (last.map { [$0] } ?? [])
            return path.isEmpty ? "the body" : path.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "\(place(context, key.stringValue)) is missing"
        case .valueNotFound(_, let context): return "\(place(context)) must not be null"
        case .typeMismatch(let type, let context): return "\(place(context)) must be a \(Self.jsonName(of: type))"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty
                ? "the body is not valid JSON" : "\(place(context)): \(context.debugDescription)"
        @unknown default: return "the body cannot be read"
        }
    }

    private static func jsonName(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "string"
        case is Bool.Type: "boolean"
        case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "number"
        case is any RangeReplaceableCollection.Type: "list"
        default: "object"
        }
    }
}
