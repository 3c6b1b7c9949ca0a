import Foundation
import Glibc
import Transport

/// What reading a file of the state folder came to.
struct StateFile<Value: Sendable>: Sendable {
    /// The contents; nil if the file does not exist or cannot be used.
    var value: Value?
    /// Why the file cannot be used.
    var failure: StateDirectory.Failure?
    /// Whether the file is still in its place although nobody could read it. Nothing may be written there then: a file
    /// that others may read, or a disk with a passing fault, can be put right, and what it holds is needed.
    var isInTheWay = false
}

extension StateDirectory {
    /// How many damaged files of one name are kept.
    static let mostSetAside = 100

    /// Reads a private file of JSON. A damaged one gets another name, and another file can be written in its place.
    func readJSON<Value: Decodable & Sendable>(_ type: Value.Type, from name: String) -> StateFile<Value> {
        let text: String?
        do throws(Failure) {
            text = try readPrivate(name)
        } catch {
            return StateFile(failure: error, isInTheWay: true)
        }
        guard let text else { return StateFile() }
        // What is wrong with it can be seen in the file, which stays.
        if let value = try? JSONDecoder().decode(type, from: Data(text.utf8)) { return StateFile(value: value) }
        do throws(Failure) {
            let aside = try setAside(name)
            return StateFile(failure: Failure(path: file(name), reason: "is damaged, and is now \(aside)"))
        } catch {
            return StateFile(failure: error, isInTheWay: true)
        }
    }

    /// Writes a private file of JSON completely or not at all. The keys are in order, so that equal values make equal files.
    /// - Throws: the encoder's error, or why the file cannot be written.
    func writeJSON(_ value: some Encodable, to name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try writePrivate(name, String(decoding: encoder.encode(value), as: UTF8.self))
    }

    /// Renames a damaged file, so that nothing overwrites it.
    /// - Returns: the name that it has now.
    private func setAside(_ name: String) throws(Failure) -> String {
        do throws(DamagedFile.Fault) {
            let suffix = try DamagedFile.setAside(file(name), keepingAtMost: Self.mostSetAside)
            return name + suffix
        } catch {
            let reason =
                switch error {
                case .system(let code): "cannot be renamed (\(String(cString: strerror(code)))); move it away"
                case .tooMany: "\(Self.mostSetAside) earlier ones are kept; remove some"
                }
            throw Failure(path: file(name), reason: "is damaged, and \(reason)")
        }
    }
}
