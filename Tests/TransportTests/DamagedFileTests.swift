import Foundation
import Testing
import Transport

@Suite struct DamagedFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("damaged-\(UUID())").path
    private var path: String { "\(folder)/list.json" }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func clean() { try? FileManager.default.removeItem(atPath: folder) }

    private func put(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    private func text(_ suffix: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path + suffix)), as: UTF8.self)
    }

    @Test func `a damaged file gets the first name that is free, and none is overwritten`() throws {
        defer { clean() }
        for (number, text) in [(1, "a"), (2, "b"), (3, "c")] {
            try put(text)
            #expect(try DamagedFile.setAside(path, keepingAtMost: 3) == ".damaged-\(number)")
        }
        try put("d")
        #expect(throws: DamagedFile.Fault.tooMany) { try DamagedFile.setAside(path, keepingAtMost: 3) }
        for (suffix, kept) in [("", "d"), (".damaged-1", "a"), (".damaged-2", "b"), (".damaged-3", "c")] {
            #expect(try text(suffix) == kept)
        }
        // The owner has removed one.
        try FileManager.default.removeItem(atPath: "\(path).damaged-2")
        #expect(try DamagedFile.setAside(path, keepingAtMost: 3) == ".damaged-2")
        #expect(try text(".damaged-2") == "d")
    }

    @Test func `the system's reason is reported`() {
        defer { clean() }
        #expect(throws: DamagedFile.Fault.system(ENOENT)) { try DamagedFile.setAside(path, keepingAtMost: 3) }
    }
}
