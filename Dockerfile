# The bench alone, for a job whose host is in the same image or a driver beside
# it: COPY --from=leakbench /leakbench /usr/local/bin/leakbench is the usual way
# into an image that has your host. It needs nothing but itself.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=""
ARG COMMIT=""
ARG DATE=""
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X main.version=${VERSION} -X main.commit=${COMMIT} -X main.date=${DATE}" -o /leakbench ./cmd/leakbench \
    && mkdir /scratch && chmod 1777 /scratch

FROM scratch
COPY --from=build /leakbench /leakbench
COPY --from=build /scratch /tmp
WORKDIR /work
ENTRYPOINT ["/leakbench"]
