import Foundation
import HomeHub
import HomeTypes

/// The pictures that were taken on purpose, for example by automations: JPEG files in the state folder, one folder for each
/// camera. They are kept for a time. Where all of them take too much room, the camera with the most loses its oldest: whoever
/// takes pictures of one camera deletes none of another.
actor KeptPictures: PictureKeeping {
    /// How long pictures are kept, in days.
    static let days = 30
    /// How much room they take at most, in bytes.
    static let byteLimit: Int64 = 512 << 20

    private struct File {
        var path: String
        var deviceID: String
        var milliseconds: Int64
        var byteCount: Int64
    }

    private let folder: String
    private let byteLimit: Int64
    private let now: @Sendable () -> Date

    /// Names a folder. It is made with the first picture.
    /// - Parameter now: the time by which pictures grow old.
    init(folder: String, byteLimit: Int64 = KeptPictures.byteLimit, now: @escaping @Sendable () -> Date) {
        self.folder = folder
        self.byteLimit = byteLimit
        self.now = now
    }

    /// Pictures that grow old as recordings do: a wall clock that leaps ahead deletes none of them until the leap counts.
    /// - Parameter now: reads the time that counts, in milliseconds since 1970, UTC.
    static func aging(
        by time: RetentionTime, in folder: String,
        now: @escaping @Sendable (RetentionTime) -> Int64 = { $0.now() }
    ) -> KeptPictures {
        KeptPictures(folder: folder, now: { Date(timeIntervalSince1970: Double(now(time)) / 1_000) })
    }

    func keep(_ jpeg: [UInt8], of deviceID: String, at time: Date) throws(HomeError) -> KeptPicture {
        var picture = KeptPicture(milliseconds: Int64((time.timeIntervalSince1970 * 1_000).rounded()))
        do {
            try FileManager.default.createDirectory(
                atPath: try place(of: deviceID), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            while FileManager.default.fileExists(atPath: try path(of: picture, deviceID)) { picture.milliseconds += 1 }
            try Data(jpeg).write(to: URL(fileURLWithPath: try path(of: picture, deviceID)), options: .atomic)
        } catch {
            throw .unavailable("the picture cannot be kept; check the disk of the state folder (\(error))")
        }
        prune()
        return picture
    }

    /// The image of a picture; nil for one that is not kept, or no longer kept.
    func image(_ picture: KeptPicture, of deviceID: String) -> Data? {
        guard isKept(picture, of: deviceID), let path = try? path(of: picture, deviceID) else { return nil }
        return FileManager.default.contents(atPath: path)
    }

    /// Whether a picture is kept.
    func isKept(_ picture: KeptPicture, of deviceID: String) -> Bool {
        guard picture.milliseconds >= oldest, let path = try? path(of: picture, deviceID) else { return false }
        return FileManager.default.fileExists(atPath: path)
    }

    /// Deletes a picture.
    /// - Returns: whether there was one.
    /// - Throws: `unavailable` if the disk does not delete it.
    func remove(_ picture: KeptPicture, of deviceID: String) throws(HomeError) -> Bool {
        guard isKept(picture, of: deviceID) else { return false }
        do { try FileManager.default.removeItem(atPath: try path(of: picture, deviceID)) } catch {
            throw .unavailable("the picture cannot be deleted (\(error))")
        }
        return true
    }

    /// Deletes the pictures of a camera that is gone.
    /// - Throws: `unavailable` if the disk does not delete them.
    func removeAll(of deviceID: String) throws(HomeError) {
        do {
            let place = try place(of: deviceID)
            guard FileManager.default.fileExists(atPath: place) else { return }
            try FileManager.default.removeItem(atPath: place)
        } catch {
            throw .unavailable("the pictures cannot be deleted (\(error))")
        }
    }

    /// Deletes what is too old, and then the oldest of the camera with the most until the rest fits.
    func prune() {
        // Read also where no picture is kept: a long time without a reading would look like a leap.
        let oldest = self.oldest
        // Those of each camera, the oldest last.
        var left: [String: [File]] = [:]
        var sizes: [String: Int64] = [:]
        for file in files.sorted(by: { $0.milliseconds > $1.milliseconds }) {
            if file.milliseconds < oldest, Self.delete(file) { continue }
            left[file.deviceID, default: []].append(file)
            sizes[file.deviceID, default: 0] += file.byteCount
        }
        var total = sizes.values.reduce(0, +)
        // Each turn takes a file or an empty list away, so this ends.
        while total > byteLimit,
            let most = left.keys.max(by: { sizes[$0, default: 0] < sizes[$1, default: 0] })
        {
            guard let file = left[most]?.popLast() else {
                left[most] = nil
                continue
            }
            guard Self.delete(file) else { continue }
            sizes[most, default: 0] -= file.byteCount
            total -= file.byteCount
        }
    }

    /// Deletes a file. One that cannot be deleted now is tried again with the next picture.
    private static func delete(_ file: File) -> Bool {
        (try? FileManager.default.removeItem(atPath: file.path)) != nil
    }

    /// The time of the oldest picture that is kept, in milliseconds since 1970.
    private var oldest: Int64 { Int64(now().timeIntervalSince1970 * 1_000) - Int64(Self.days) * 86_400_000 }

    private var files: [File] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return paths.compactMap { path in
            let name = (path as NSString).lastPathComponent
            guard name.hasSuffix(".jpg"), let milliseconds = Int64(name.dropLast(4)) else { return nil }
            let whole = "\(folder)/\(path)"
            let size = (try? FileManager.default.attributesOfItem(atPath: whole))?[.size] as? NSNumber
            return File(
                path: whole, deviceID: (path as NSString).deletingLastPathComponent, milliseconds: milliseconds,
                byteCount: size?.int64Value ?? 0)
        }
    }

    private func path(of picture: KeptPicture, _ deviceID: String) throws(HomeError) -> String {
        "\(try place(of: deviceID))/\(picture.milliseconds).jpg"
    }

    private func place(of deviceID: String) throws(HomeError) -> String {
        // Identifiers are the gateway's own, so this holds for each of them. A path is never made of anything else.
        guard !deviceID.isEmpty, deviceID.utf8.allSatisfy({ $0.isPartOfName }) else {
            throw .invalidArgument("\(deviceID.prefix(64).debugDescription) is not the id of a device")
        }
        return "\(folder)/\(deviceID)"
    }
}

extension UInt8 {
    /// Whether it is a letter, a digit, a hyphen or an underscore in ASCII.
    fileprivate var isPartOfName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
