import Foundation
import Glibc

/// Records of recording connections that cannot be read, because a disk has damaged them or a newer version has written them.
/// Each is kept in a file of its own in the state folder, which the owner can correct or remove. None is ever overwritten.
public struct ConnectionsAside: Sendable {
    /// A record that was set aside.
    public struct Record: Equatable, Sendable {
        /// The camera.
        public var device: String
        /// The file.
        public var path: String
        /// What is in it; nil when it cannot be read at all.
        public var body: String?
    }

    private static let prefix = "recording-connections."
    private static let mark = ".unreadable-"
    private static let largest = 64 << 20
    private static let maximumNumber = 1_000
    private let folder: String

    /// Keeps them in a folder that exists.
    public init(folder: String) {
        self.folder = folder
    }

    /// Keeps a record. It is on the disk when this returns.
    /// - Returns: its file.
    public func keep(_ body: String, of device: String) throws(RecordingFault) -> String {
        // A start that ended before it could go on has kept it already.
        if let same = records.first(where: { $0.device == device && $0.body == body }) { return same.path }
        guard RecordingLayout.isSafe(device: device) else {
            throw .storage(path: folder, .connections(.unsafeName(device)))
        }
        for number in 1...Self.maximumNumber {
            let path = "\(folder)/\(Self.prefix)\(device)\(Self.mark)\(number)"
            guard access(path, F_OK) != 0 else { continue }
            do throws(UploadStorageFailure) {
                try DurableFile.write(Array(body.utf8), to: path)
            } catch {
                throw .storage(path: error.path, error.reason)
            }
            return path
        }
        throw .storage(path: folder, .connections(.tooManyRecords(Self.maximumNumber, device: device)))
    }

    /// What is kept, the oldest of each camera first.
    public var records: [Record] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name -> (number: Int, record: Record)? in
            guard let parts = Self.parts(of: name) else { return nil }
            let path = "\(folder)/\(name)"
            let bytes = try? DurableFile.read(path, limit: Self.largest)
            let body = bytes.map { String(decoding: $0, as: UTF8.self) }
            return (parts.number, Record(device: parts.device, path: path, body: body))
        }
        .sorted { ($0.record.device, $0.number) < ($1.record.device, $1.number) }
        .map { $0.record }
    }

    /// Removes a record that was taken back. It is gone from the disk when this returns: the next start would take it back
    /// again, and with it connections that were deallocated meanwhile.
    public func remove(_ record: Record) throws(RecordingFault) {
        guard unlink(record.path) == 0 || errno == ENOENT else {
            throw .storage(path: record.path, .connections(.notRemoved(errno)))
        }
        DurableFile.syncFolder(of: record.path)
    }

    private static func parts(of name: String) -> (device: String, number: Int)? {
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count)
        guard let end = rest.range(of: mark, options: .backwards), let number = Int(rest[end.upperBound...]) else {
            return nil
        }
        let device = rest[..<end.lowerBound]
        return device.isEmpty ? nil : (String(device), number)
    }
}

/// The connections of a camera that cannot be read.
public struct ConnectionLoss: Equatable, Sendable {
    /// The camera.
    public var device: String
    /// What is wrong and what to do, in words for the owner.
    public var reason: String

    /// Describes a loss.
    public init(device: String, reason: String) {
        self.device = device
        self.reason = reason
    }
}
