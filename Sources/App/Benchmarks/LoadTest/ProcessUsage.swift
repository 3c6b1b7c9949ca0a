import Foundation
import Glibc

/// What a process has used, as the kernel counts it (proc(5)).
public struct ProcessUsage: Hashable, Sendable {
    /// Processor time in seconds; the kernel counts in hundredths.
    public struct Time: Hashable, Sendable {
        public var user = 0.0
        public var system = 0.0

        static func - (left: Time, right: Time) -> Time {
            Time(user: left.user - right.user, system: left.system - right.system)
        }
    }

    /// The beginnings of the names of threads that are counted together.
    private static let kinds = ["relay", "camera", "NIO"]

    /// The time of all threads, those included that have ended.
    public var time: Time
    /// The time of the threads that run, by kind: the beginning of their names, or `rest`.
    public var threads: [String: Time] = [:]
    /// User and system time of all its threads, in seconds.
    public var processorSeconds: Double { time.user + time.system }
    /// Resident memory in bytes.
    public var residentBytes: Int
    /// Its share of that memory where pages are shared with other processes; nil where the kernel does not report it.
    public var proportionalBytes: Int?

    /// Reads the usage of process `identifier`.
    public init(process identifier: Int32) throws(BenchmarkFailure) {
        let folder = "/proc/\(identifier)"
        guard let (_, time) = Self.stat(in: folder) else {
            throw BenchmarkFailure("process \(identifier) does not exist, or \(folder)/stat has an unknown form")
        }
        self.time = time
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/task")) ?? [] {
            guard let (name, time) = Self.stat(in: "\(folder)/task/\(thread)") else { continue }
            let kind = Self.kinds.first { name.hasPrefix($0) } ?? "rest"
            threads[kind, default: Time()].user += time.user
            threads[kind, default: Time()].system += time.system
        }
        residentBytes = (Self.value("VmRSS", in: "\(folder)/status") ?? 0) * 1024
        proportionalBytes = Self.value("Pss", in: "\(folder)/smaps_rollup").map { $0 * 1024 }
    }

    /// The name and the times in the `stat` of a process or a thread.
    private static func stat(in folder: String) -> (name: String, time: Time)? {
        guard let stat = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8),
            // The name is in parentheses and may contain anything.
            let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")"), start < end
        else { return nil }
        let fields = stat[end...].split(separator: " ")
        let ticks = Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return nil }
        return (String(stat[stat.index(after: start)..<end]), Time(user: user / ticks, system: system / ticks))
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
