import Glibc

extension RecordingFault: CustomStringConvertible {
    /// What is wrong, where, and what to do, as people read it.
    public var description: String {
        switch self {
        case .storageFull(let path, .reserve(let free)): "\(path): only \(free) bytes are free, too few to record"
        case .storageFull(let path, .system(let code)): "\(path): \(String(cString: strerror(code)))"
        case .storage(let path, let fault): "\(path): \(fault)"
        case .refused(let refusal): refusal.description
        case .unknownSession: "the recording does not exist; it may have been deleted"
        case .inProgress: "it is being recorded; it can be deleted when it has ended"
        }
    }
}
