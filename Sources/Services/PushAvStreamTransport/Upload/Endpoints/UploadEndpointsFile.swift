import Foundation
import Glibc

/// The file of the upload endpoints, and what becomes of one that cannot be used.
///
/// A file that is damaged, or of a newer version, gets another name and is never written or deleted. As long as it has that
/// name, the endpoints in it are missing: whoever names one of them waits for it. The owner ends that: with the file in its
/// old place, everything is as it was; without the file, its endpoints are gone.
struct UploadEndpointsFile: Sendable {
    /// What is in the file.
    struct Contents: Codable, Equatable, Sendable {
        var version = UploadEndpointsFile.version
        /// The id that the next new endpoint gets. An id does not come back, because a connection that was deallocated may
        /// still have footage for it.
        var nextID: UInt16 = 1
        var endpoints: [UploadEndpoint] = []
        /// The name of an earlier file whose endpoints are missing here; nil when none are.
        var missing: String?
    }

    /// What opening it came to.
    struct Opened: Sendable {
        var contents = Contents()
        /// Which file cannot be used, why, and what the owner can do; nil when every endpoint is known.
        var loss: UploadStorageFailure?
        /// Whether a file that cannot be used is still in its place, so that nothing may be written there.
        var isInTheWay = false
    }

    /// The newest version that is read, and the one that is written.
    static let version = 1
    /// How many files can be set aside.
    static let maximumAside: UInt16 = 60
    /// Endpoints that are made while others are missing have ids that those do not have: each file that was set aside has
    /// room for this many.
    static let idsOfOne: UInt16 = 1_000
    private static let largest = 64 << 20

    /// Where it is.
    let path: String

    /// Reads it. One that cannot be used is set aside.
    func open() -> Opened {
        let last = newestAside
        let bytes: [UInt8]?
        do throws(UploadStorageFailure) {
            bytes = try DurableFile.read(path, limit: Self.largest)
        } catch {
            return blocked(last, .unreadable(error.reason))
        }
        guard let bytes else { return last.map(beside) ?? Opened() }
        guard var contents = Self.decode(bytes) else {
            let kind: UploadEndpointsLoss.Kind = Self.isNewer(bytes) ? .newer : .damaged
            return setAside(as: kind, after: last)
        }
        guard let name = contents.missing, let kept = aside(named: name) else {
            // The owner has removed it, so nothing is missing any more.
            contents.missing = nil
            return Opened(contents: contents)
        }
        return Opened(contents: contents, loss: loss(kept))
    }

    /// Replaces what is in it.
    func write(_ contents: Contents) throws(UploadStorageFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        let json: Data
        do {
            json = try encoder.encode(contents)
        } catch {
            throw UploadStorageFailure(path: path, reason: .unencodable("\(error)"))
        }
        try DurableFile.write(Array(json), to: path)
    }

    // MARK: Reading

    /// Nil for what is not one of these files, or not of a version that is known.
    private static func decode(_ bytes: [UInt8]) -> Contents? {
        guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)), contents.version <= version
        else { return nil }
        return contents
    }

    private struct Head: Codable {
        var version: Int
    }

    private static func isNewer(_ bytes: [UInt8]) -> Bool {
        (try? JSONDecoder().decode(Head.self, from: Data(bytes))).map { $0.version > version } ?? false
    }

    // MARK: Setting aside

    /// A file that was set aside.
    private struct Aside {
        /// Why it was set aside, as its name says.
        var kind: UploadEndpointsLoss.Kind
        var number: UInt16
        var path: String
    }

    private func aside(_ kind: UploadEndpointsLoss.Kind, _ number: UInt16) -> Aside? {
        let name = "\(path).\(kind.rawValue)-\(number)"
        return access(name, F_OK) == 0 ? Aside(kind: kind, number: number, path: name) : nil
    }

    private var asides: [Aside] {
        (1...Self.maximumAside).flatMap { number in UploadEndpointsLoss.Kind.allCases.compactMap { aside($0, number) } }
    }

    private var newestAside: Aside? { asides.last }

    /// The state folder may have moved, so only the name counts.
    private func aside(named name: String) -> Aside? { asides.first { Self.name(of: $0.path) == name } }

    private static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }

    private func setAside(as kind: UploadEndpointsLoss.Kind, after last: Aside?) -> Opened {
        let number = (last?.number ?? 0) + 1
        guard number <= Self.maximumAside else {
            return blocked(last, .tooManyAside(kind, kept: Int(Self.maximumAside)))
        }
        let new = Aside(kind: kind, number: number, path: "\(path).\(kind.rawValue)-\(number)")
        guard rename(path, new.path) == 0 else { return blocked(last, .notRenamed(kind, errno)) }
        DurableFile.syncFolder(of: path)
        return beside(new)
    }

    /// What there is beside a file that was set aside: nothing yet.
    private func beside(_ aside: Aside) -> Opened {
        var contents = Contents()
        contents.nextID = aside.number * Self.idsOfOne + 1
        contents.missing = Self.name(of: aside.path)
        return Opened(contents: contents, loss: loss(aside))
    }

    /// A file that stays where it is, unread.
    private func blocked(_ last: Aside?, _ loss: UploadEndpointsLoss) -> Opened {
        var opened = last.map(beside) ?? Opened()
        opened.loss = UploadStorageFailure(path: path, reason: .endpoints(loss))
        opened.isInTheWay = true
        return opened
    }

    private func loss(_ aside: Aside) -> UploadStorageFailure {
        UploadStorageFailure(
            path: aside.path, reason: .endpoints(.setAside(aside.kind, insteadOf: Self.name(of: path))))
    }
}
