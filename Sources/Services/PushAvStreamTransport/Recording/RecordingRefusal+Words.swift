extension RecordingRefusal: CustomStringConvertible {
    /// Why it is refused, and what to do, as people read it.
    public var description: String {
        switch self {
        case .unusableSession(let problem): problem.description
        case .hasBegun(let folder): "\(folder) has begun already"
        case .isBeingIndexed: "the recording is being added to the index; delete it again in a moment"
        }
    }
}
