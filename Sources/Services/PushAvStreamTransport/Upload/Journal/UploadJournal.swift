import Foundation
import Glibc
import Transport

/// The queue's file: one line for each record, appended. A line begins with a check of its rest, so that a line that was
/// not written completely, or was changed, is noticed.
///
/// The first line names the format and its version. A file of a newer version, and one that is damaged, is renamed and
/// kept; what comes before the damage counts. A last line that is cut off is not damage: a power cut leaves one.
public final class UploadJournal: UploadQueueStorage {
    /// The version that is written, and the newest that is read.
    public static let version = 1
    /// A larger file is not read. A queue of 8 GiB needs some megabytes.
    static let maximumLength = 512 << 20
    /// How many damaged files are kept.
    private static let mostSetAside = 1_000

    private struct Head: Codable {
        var format: String
        var version: Int
    }

    private let path: String
    /// Whether a file that cannot be used is still in its place. It must not be overwritten.
    private let isInTheWay = Locked(false)
    /// The open file; -1 until it is needed.
    private let descriptor = Locked<Int32>(-1)

    /// Names the file. Its folder must exist.
    public init(path: String) {
        self.path = path
    }

    deinit {
        descriptor.withLock { if $0 >= 0 { close($0) } }
    }

    public func load() -> StoredUploads {
        let bytes: [UInt8]?
        do throws(UploadStorageFailure) {
            bytes = try DurableFile.read(path, limit: Self.maximumLength)
        } catch {
            return goOn(with: [], after: "cannot be read (\(error.reason))")
        }
        guard let bytes, !bytes.isEmpty else { return begin(with: []) }
        let (records, validLength, problem) = Self.read(bytes)
        if let problem { return goOn(with: records, after: problem) }
        // What was cut off must not remain before the next record.
        if validLength < bytes.count, truncate(path, validLength) != 0 {
            return StoredUploads(records: records, failure: DurableFile.failure(path))
        }
        return StoredUploads(records: records)
    }

    /// Goes on with what could be read of a file that is set aside.
    private func goOn(with records: [UploadRecord], after problem: String) -> StoredUploads {
        isInTheWay.withLock { $0 = true }
        do throws(UploadStorageFailure) {
            let aside = try setAside()
            var stored = begin(with: records)
            stored.damage = "\(path): \(problem); the file is kept as \(aside)"
            return stored
        } catch {
            return StoredUploads(records: records, damage: "\(path): \(problem)", failure: error)
        }
    }

    /// Begins a new file.
    private func begin(with records: [UploadRecord]) -> StoredUploads {
        do throws(UploadStorageFailure) {
            try replace(with: records)
            return StoredUploads(records: records)
        } catch {
            return StoredUploads(records: records, failure: error)
        }
    }

    public func append(_ records: [UploadRecord], durably: Bool) throws(UploadStorageFailure) {
        guard !records.isEmpty || durably else { return }
        let bytes = try Self.lines(records, path)
        try descriptor.withLock { (descriptor) throws(UploadStorageFailure) in
            if descriptor < 0 {
                descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
                guard descriptor >= 0 else { throw DurableFile.failure(path) }
            }
            let end = lseek(descriptor, 0, SEEK_END)
            do throws(UploadStorageFailure) {
                try DurableFile.append(bytes, to: descriptor, path: path)
            } catch {
                // Half a record must not remain before the next one. If even that fails, the half is found as damage.
                ftruncate(descriptor, end)
                throw error
            }
            if durably, fdatasync(descriptor) != 0 { throw DurableFile.failure(path) }
        }
    }

    public func replace(with records: [UploadRecord]) throws(UploadStorageFailure) {
        let bytes = try Self.lines([Head(format: Self.format, version: Self.version)], path) + Self.lines(records, path)
        // The owner may have taken it away meanwhile.
        if isInTheWay.withLock({ $0 }), access(path, F_OK) == 0 { _ = try setAside() }
        try descriptor.withLock { (descriptor) throws(UploadStorageFailure) in
            try DurableFile.write(bytes, to: path)
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Renames the file to a name that is free.
    private func setAside() throws(UploadStorageFailure) -> String {
        do throws(DamagedFile.Fault) {
            let suffix = try DamagedFile.setAside(path, keepingAtMost: Self.mostSetAside)
            isInTheWay.withLock { $0 = false }
            return path + suffix
        } catch {
            let reason: StorageFault =
                switch error {
                case .system(let code): .system(code)
                case .tooMany: .tooManyDamaged(kept: Self.mostSetAside)
                }
            throw UploadStorageFailure(path: path, reason: reason)
        }
    }

    /// The records of a file, how many of its bytes they are, and what is wrong with the rest.
    static func read(_ bytes: [UInt8]) -> (records: [UploadRecord], validLength: Int, problem: String?) {
        var records: [UploadRecord] = []
        let decoder = JSONDecoder()
        var start = 0
        var line = 0
        while start < bytes.count {
            guard let end = bytes[start...].firstIndex(of: 0x0A) else {
                // The head is written with the file, so it is never cut off.
                return (records, start, line == 0 ? "it is not an upload queue" : nil)
            }
            line += 1
            guard let json = checked(bytes[start..<end]) else {
                // Blocks of a file may reach the disk in any order, so the last line may be there without its content.
                let isLast = end == bytes.count - 1
                return (records, start, isLast && line > 1 ? nil : "line \(line) is damaged")
            }
            if line == 1 {
                guard let head = try? decoder.decode(Head.self, from: json), head.format == Self.format else {
                    return ([], 0, "it is not an upload queue")
                }
                guard head.version <= version else { return ([], 0, "it has the newer version \(head.version)") }
            } else {
                guard let record = try? decoder.decode(UploadRecord.self, from: json) else {
                    return (records, start, "line \(line) is not a record")
                }
                records.append(record)
            }
            start = end + 1
        }
        return (records, start, nil)
    }

    private static let format = "gatehouse-uploads"

    private static func lines(_ values: [some Encodable], _ path: String) throws(UploadStorageFailure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes: [UInt8] = []
        for value in values {
            let json: Data
            do {
                json = try encoder.encode(value)
            } catch {
                throw UploadStorageFailure(path: path, reason: .unencodable("\(error)"))
            }
            bytes += check(of: json)
            bytes.append(0x20)
            bytes += json
            bytes.append(0x0A)
        }
        return bytes
    }

    /// The JSON of a line whose check is right.
    private static func checked(_ line: ArraySlice<UInt8>) -> Data? {
        guard line.count > 9, line[line.startIndex + 8] == 0x20 else { return nil }
        let json = Data(line.dropFirst(9))
        return check(of: json) == Array(line.prefix(8)) ? json : nil
    }

    /// Eight hexadecimal digits of the SHA-256.
    private static func check(of json: Data) -> [UInt8] {
        Array(Digest.hexadecimal(Digest.sha256(Array(json)).prefix(4)).utf8)
    }
}
