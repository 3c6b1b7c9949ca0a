extension StoreCondition: CustomStringConvertible {
    /// Whether the store can record, and otherwise why not, as the owner reads it.
    public var description: String {
        switch self {
        case .ready: "recordings can be written"
        case .full(let free, let resumesAt):
            "the disk has \(free / 1_000_000) MB left; recording resumes when it has \(resumesAt / 1_000_000) MB"
        case .failing(let path, let fault): "\(path): \(fault)"
        }
    }
}
