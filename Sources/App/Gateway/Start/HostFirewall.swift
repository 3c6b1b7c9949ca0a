import Foundation

/// A firewall on this machine that keeps other devices out until its ports are opened.
public enum HostFirewall: Sendable, CaseIterable {
    case ufw
    case firewalld

    /// The firewall that is switched on; nil where neither is. Rules that somebody wrote for nftables are not seen.
    /// - Parameter root: the folder that stands for `/`.
    public static func active(root: String = "") -> HostFirewall? {
        // Reading the rules themselves needs root. These files may be read by everybody.
        if let settings = try? String(contentsOfFile: root + "/etc/ufw/ufw.conf", encoding: .utf8),
            settings.split(separator: "\n").contains(where: { $0.lowercased() == "enabled=yes" })
        {
            return .ufw
        }
        let wanted = root + "/etc/systemd/system/multi-user.target.wants/firewalld.service"
        return FileManager.default.fileExists(atPath: wanted) ? .firewalld : nil
    }

    /// The command that opens the ports.
    public func opening(tcp: [Int], udp: Int) -> String {
        let ports = tcp.map { "\($0)/tcp" } + ["\(udp)/udp"]
        switch self {
        case .ufw: return ports.map { "sudo ufw allow \($0)" }.joined(separator: " && ")
        case .firewalld:
            let options = ports.map { "--add-port=\($0)" }.joined(separator: " ")
            return "sudo firewall-cmd --permanent \(options) && sudo firewall-cmd --reload"
        }
    }
}
