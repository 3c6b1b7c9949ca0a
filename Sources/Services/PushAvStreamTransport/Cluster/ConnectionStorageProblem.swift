import Glibc

/// Why the recording connections of a camera cannot be kept, or those that were kept cannot be read.
public enum ConnectionStorageProblem: Hashable, Sendable {
    /// The camera's id cannot be part of the name of a file.
    case unsafeName(String)
    /// So many records of the camera are set aside that there is no room for another.
    case tooManyRecords(Int, device: String)
    /// The file of a record that was taken back cannot be removed; the number is the reason (`errno`).
    case notRemoved(Int32)
    /// The record cannot be read, and there is no place to set it aside.
    case notOverwritten
    /// The record is damaged, or a newer version of the gateway has written it.
    case unreadable
    /// Another gateway has changed the record each time between reading and writing.
    case contended
}

extension ConnectionStorageProblem: CustomStringConvertible {
    /// What is wrong, as people read it after the path or the camera.
    public var description: String {
        switch self {
        case .unsafeName(let device): "cannot have a file for the device \(device.debugDescription)"
        case .tooManyRecords(let count, let device): "has \(count) records of \(device) already; remove some"
        case .notRemoved(let code): "cannot be removed: \(String(cString: strerror(code)))"
        case .notOverwritten: "its recording connections cannot be read and are not overwritten"
        case .unreadable: "is damaged, or comes from a newer version of the gateway"
        case .contended: "another gateway keeps changing the same connections"
        }
    }
}
