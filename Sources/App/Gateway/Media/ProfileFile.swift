import Foundation
import Logging
import Stations

/// The file in the state folder that keeps what the gateway has learned about its cameras.
struct ProfileFile: ProfileStorage {
    static let name = "camera-profiles.json"

    let directory: StateDirectory

    func read() throws(ProfileStorageError) -> [String: StoredProfile] {
        do {
            guard let text = try directory.readPrivate(Self.name) else { return [:] }
            return try JSONDecoder().decode([String: StoredProfile].self, from: Data(text.utf8))
        } catch {
            throw ProfileStorageError(reason: "\(error)")
        }
    }

    func write(_ profiles: [String: StoredProfile]) throws(ProfileStorageError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try directory.writePrivate(
                Self.name, String(decoding: try encoder.encode(profiles), as: UTF8.self) + "\n")
        } catch {
            throw ProfileStorageError(reason: "\(error)")
        }
    }
}

extension ProfileStore {
    /// The store in the state folder, which logs what goes wrong.
    convenience init(directory: StateDirectory, logger: Logger) {
        self.init(storage: ProfileFile(directory: directory)) { problem in
            switch problem {
            case .unreadable(let reason):
                logger.warning(
                    "the camera profiles cannot be read; the gateway learns them again",
                    metadata: ["reason": "\(reason)"])
            case .unwritable(let reason):
                logger.warning(
                    "the camera profiles cannot be written", metadata: ["reason": "\(reason)"])
            }
        }
    }
}
