import Glibc

extension StorageFault: CustomStringConvertible {
    /// What is wrong, as people read it after the path, and what to do about it.
    public var description: String {
        switch self {
        case .system(let code): String(cString: strerror(code))
        case .call(let name, let code): "\(name): \(String(cString: strerror(code)))"
        case .tooLarge(let limit): "is larger than \(limit) bytes"
        case .unencodable(let reason): "cannot be written: \(reason)"
        case .noAnswer: "the disk does not answer"
        case .noThread: "no thread can be started"
        case .folder(let problem): problem.description
        case .damage(let damage): damage.description
        case .database(let reason): reason
        case .connections(let problem): problem.description
        case .endpoints(let loss): loss.description
        case .discardedList:
            "lists what a privacy switch discarded, but is damaged, so the recording is not uploaded. "
                + "If all of it may be uploaded, remove the file and restart the gateway"
        case .tooManyDamaged(let kept): "is damaged, and \(kept) damaged ones are kept; remove some"
        }
    }
}
