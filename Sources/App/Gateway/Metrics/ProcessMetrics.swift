import Foundation
import Glibc

/// The kernel's figures for this process.
enum ProcessMetrics {
    static func families() -> [MetricFamily] {
        var families: [MetricFamily] = []
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds =
                Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
            families.append(
                .init(
                    name: "process_cpu_seconds_total", help: "CPU seconds used, user and system.", kind: .counter,
                    samples: [.init(seconds)]))
        }
        if let statm = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) {
            let pages = statm.split(separator: " ").compactMap { Double($0) }
            if pages.count > 1 {
                families.append(
                    .init(
                        name: "process_resident_memory_bytes", help: "Resident memory in bytes.", kind: .gauge,
                        samples: [.init(pages[1] * Double(sysconf(Int32(_SC_PAGESIZE))))]))
            }
        }
        if let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            families.append(
                .init(
                    name: "process_open_fds", help: "Open file descriptors.", kind: .gauge,
                    samples: [.init(Double(descriptors.count))]))
        }
        return families
    }
}
