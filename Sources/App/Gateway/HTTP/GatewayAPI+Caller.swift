import Foundation
import HTTPTypes
import HomeTypes
import Hummingbird

/// The caller of a command, and what its headers say about time and repetitions.
extension GatewayAPI {
    func caller(_ request: Request, _ context: GatewayRequestContext) throws -> Caller {
        let authorization = try self.authorization(context)
        return Caller(
            principal: authorization.principal, access: authorization.access, requestID: UUID().uuidString,
            idempotencyKey: request.headers[Self.idempotencyKey].map(Self.unquoted),
            remainingSeconds: try request.headers[Self.timeout].map(Self.seconds(ofTimeout:)),
            address: context.remoteHost.map(Self.literal), reachedAddresses: reachedAddresses(request, context))
    }

    /// The IETF draft "The Idempotency-Key HTTP Header Field".
    private static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .from
    /// gRPC's header, which its HTTP gateways use as well.
    private static let timeout = HTTPField.Name("Grpc-Timeout") ?? .from

    /// A key without the quotation marks that it has as a string of a structured field (RFC 9651, section 3.3.3).
    /// Widely used clients send it without.
    static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    /// The seconds of a timeout: one to eight digits and a unit (gRPC over HTTP/2, "Timeout").
    static func seconds(ofTimeout text: String) throws(HomeError) -> Double {
        let units: [Character: Double] = ["H": 3_600, "M": 60, "S": 1, "m": 1e-3, "u": 1e-6, "n": 1e-9]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), (1...8).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Double(digits)
        else {
            throw HomeError.invalidArgument(
                "Grpc-Timeout must be one to eight digits and a unit, for example 500m for half a second or 10S")
        }
        return count * unit
    }
}
