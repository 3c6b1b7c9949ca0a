import Foundation
import Glibc

/// What a process has used, as the kernel counts it (proc(5)).
public struct ProcessUsage: Hashable, Sendable {
    /// User and system time of all its threads, in seconds; the kernel counts in hundredths.
    public var processorSeconds: Double
    /// Resident memory in bytes.
    public var residentBytes: Int
    /// Its share of that memory where pages are shared with other processes; nil where the kernel does not report it.
    public var proportionalBytes: Int?

    /// Reads the usage of process `identifier`.
    public init(process identifier: Int32) throws(BenchmarkFailure) {
        let folder = "/proc/\(identifier)"
        guard let stat = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8),
            // The name of the program is in parentheses and may contain anything.
            let end = stat.lastIndex(of: ")")
        else { throw BenchmarkFailure("there is no process \(identifier)") }
        let fields = stat[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
            throw BenchmarkFailure("\(folder)/stat has an unknown form")
        }
        processorSeconds = (user + system) / Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
        residentBytes = (Self.value("VmRSS", in: "\(folder)/status") ?? 0) * 1024
        proportionalBytes = Self.value("Pss", in: "\(folder)/smaps_rollup").map { $0 * 1024 }
    }

    /// The number after `name:` in a file of lines.
    private static func value(_ name: String, in path: String) -> Int? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("\(name):") {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
        }
        return nil
    }
}
