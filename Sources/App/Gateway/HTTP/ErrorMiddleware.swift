import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import Signalling

/// Turns every error into the JSON body that clients expect, and distinguishes what is wrong: path, method or request.
struct ErrorMiddleware: RouterMiddleware {
    /// The routes, to distinguish a wrong method from a wrong path.
    let routes: RouteTable
    /// The keys of the devices, because messages are for people.
    let names: DeviceNames

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let response = try self.response(for: error, request: request, context: context)
            // An answer to HEAD has no body (RFC 9110, section 9.3.2).
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    private func response(
        for error: any Error, request: Request, context: GatewayRequestContext
    ) throws -> Response {
        switch error {
        case let failure as HTTPFailure:
            return try response(failure, to: request)
        case let refusal as AutomationRefusal:
            return try response(refusal.failure, to: request)
        case is RequestBrokenOff, is HTTPParserError, is IOError, is ChannelError:
            // Nobody reads this: the connection is gone, or its error has been reported already.
            return try response(
                HTTPFailure(error: .invalidArgument("the connection closed before the request was complete")),
                to: request)
        case let error as SignallingError:
            var response = try self.response(for: HomeError(error), request: request, context: context)
            if let seconds = error.retryAfterSeconds { response.headers[.retryAfter] = "\(seconds)" }
            return response
        case let error as HomeError:
            var headers = HTTPFields()
            if error.code == .unavailable || error.code == .resourceExhausted { headers[.retryAfter] = "5" }
            if error.code == .internal || error.code == .unknown || error.code == .dataLoss {
                context.logger.error("request failed", metadata: ["error": "\(error)"])
            }
            return try response(
                HTTPFailure(error: error, status: Self.status(for: error), headers: headers), to: request)
        case let error as HTTPError where error.status == .notFound:
            let methods = routes.methods(forPath: request.uri.path)
            if !methods.isEmpty { return try response(.methodNotAllowed(methods), to: request) }
            return try response(HTTPFailure(error: Self.unknownPath), to: request)
        case let error as any HTTPResponseError:
            let code = HomeError.Code.allCases.first { $0.httpStatus == error.status.code } ?? .invalidArgument
            return try response(
                HTTPFailure(error: HomeError(code, error.status.reasonPhrase), status: error.status), to: request)
        default:
            // The client learns nothing about the internals; the log does.
            context.logger.error("request failed", metadata: ["error": "\(error)"])
            return try response(
                HTTPFailure(error: .internal("internal error; the gateway's log says more")), to: request)
        }
    }

    static let unknownPath = HomeError.notFound("the gateway has no such path").advising(
        request: "/v1/openapi.json lists its paths", command: "it may be older than this command: compare the versions")

    /// The status of an error that has a closer one than its code's.
    static func status(for error: HomeError) -> HTTPResponse.Status? {
        guard error.code == .failedPrecondition else { return nil }
        // RFC 9110, sections 15.5.7 and 15.5.10. Players distinguish the two only by the status.
        return error.subcodes.contains(HomeError.noCommonCodec) ? .notAcceptable : .conflict
    }

    private func response(_ failure: HTTPFailure, to request: Request) throws -> Response {
        var failure = failure
        failure.error = names.readable(failure.error)
        var response: Response
        let standard = HTTPResponse.Status(code: failure.error.code.httpStatus)
        if GoogleFailure.isExpected(at: request.uri.path) {
            // There, a wrong state has the status of its code.
            let status = failure.error.code == .failedPrecondition ? standard : failure.status ?? standard
            response = try JSONBody.response(GoogleFailure(failure.error, status: status), status: status)
        } else {
            response = try JSONBody.response(
                HomeErrorResponse(failure.error, details: failure.details), status: failure.status ?? standard)
        }
        for field in failure.headers { response.headers[field.name] = field.value }
        return response
    }
}

extension DeviceNames {
    /// An error with the keys of devices in the place of their ids.
    fileprivate func readable(_ error: HomeError) -> HomeError {
        var error = error
        error.message = readable(error.message)
        if let remedy = error.remedy {
            error.remedy = .init(request: readable(remedy.request), command: readable(remedy.command))
        }
        return error
    }
}
