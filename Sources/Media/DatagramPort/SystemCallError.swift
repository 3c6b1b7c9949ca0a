import Glibc

/// A system call failed while a port or a thread was set up. Nothing on the packet path throws.
public struct SystemCallError: Error, Hashable, Sendable {
    /// The call, as the manual names it.
    public var call: String
    /// The purpose of the call, with what a person can do about the error where that is known.
    public var purpose: String
    /// The kernel's error number.
    public var errorNumber: Int32

    /// Describes the failure of `call`.
    public init(call: String, purpose: String, errorNumber: Int32) {
        self.call = call
        self.purpose = purpose
        self.errorNumber = errorNumber
    }

    /// Whether the host lacks the address's family, or has no address of that family.
    public var isMissingFamily: Bool { errorNumber == EAFNOSUPPORT || errorNumber == EADDRNOTAVAIL }

    /// Returns `result`, or throws when it is one of the `-errno` values of CLinuxUDP.
    static func check(
        _ result: Int32, _ call: String, _ purpose: @autoclosure () -> String
    ) throws(SystemCallError) -> Int32 {
        guard result < 0 else { return result }
        throw SystemCallError(call: call, purpose: purpose(), errorNumber: 0 &- result)
    }
}

extension SystemCallError: CustomStringConvertible {
    public var description: String {
        "\(purpose): \(call) failed: \(String(cString: strerror(errorNumber)))"
    }
}
